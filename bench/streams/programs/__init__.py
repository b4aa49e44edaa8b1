"""The same programs for each system; what stands in braces is put in when a program begins."""
