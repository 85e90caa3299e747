"""Reports: a verdict in words for people, or as a document for programs."""
