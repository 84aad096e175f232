"""Names for files and addresses, made of any text."""

from slugs.slugify import slugify

__all__ = ["slugify"]
