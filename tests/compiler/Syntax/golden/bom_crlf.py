x = 1
if x:
    y = """a
b"""
    z = 1 \
      + 2
