from penstock.group.parts import Part


class ShareGroups(Part):
    pass
