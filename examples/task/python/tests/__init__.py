"""Found by unittest."""
