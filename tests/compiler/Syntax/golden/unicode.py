def über(数据):
    return α_1 + _x
