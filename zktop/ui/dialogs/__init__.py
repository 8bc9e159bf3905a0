"""Dialogs: small screens above the page, which keeps updating."""
