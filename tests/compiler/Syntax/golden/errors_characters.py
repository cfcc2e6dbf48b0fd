x = a + b
y = “text”
z = a – b
w = f（x）
u = 😀
