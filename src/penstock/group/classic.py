from penstock.group.parts import Part


class ClassicGroups(Part):
    pass
