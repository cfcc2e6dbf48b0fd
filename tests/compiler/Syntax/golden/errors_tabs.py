if a:
        b
	c
x = 1
