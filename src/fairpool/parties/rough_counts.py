"""A party that hides its rows by noise hides how many they are: that number is no exact one."""


def roughly(is_rough: bool) -> str:
    """What stands before a number of rows.

    >>> f"{roughly(True)}80 rows", f"{roughly(False)}80 rows"
    ('about 80 rows', '80 rows')
    """
    return "about " if is_rough else ""
