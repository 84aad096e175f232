import unittest

from slugs import slugify


class SlugifyTest(unittest.TestCase):
    def test_joins_words(self) -> None:
        self.assertEqual(slugify("Hello World"), "hello-world")

    def test_leaves_out_punctuation(self) -> None:
        self.assertEqual(slugify("Ready, steady: go"), "ready-steady-go")


if __name__ == "__main__":
    unittest.main()
