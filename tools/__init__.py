"""What makes the data files that come with shoal. Not part of the package."""
