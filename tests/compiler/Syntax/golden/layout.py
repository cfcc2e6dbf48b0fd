if a:
	if b:
		c
	d
  
# comment at column 0
    # odd comment
	e
if f:
        g

x = 1 + \
    2
if (a and
  b):
    y = [
1,
2
    ]
z = 1
last