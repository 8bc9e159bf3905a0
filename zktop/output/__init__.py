"""The front end without a screen: a report as JSON, text, DOT and Mermaid."""
