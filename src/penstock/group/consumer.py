from penstock.group.parts import Part


class ConsumerGroups(Part):
    pass
