x = f'''text {a}
