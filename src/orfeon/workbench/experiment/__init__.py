"""The workbench: compare methods on a table of data, choose one honestly, and keep the evidence."""
