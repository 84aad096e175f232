"""The one function of this package."""


def slugify(text: str) -> str:
    """Small letters and digits, joined by hyphens."""
    return text.lower().replace(" ", "-")
