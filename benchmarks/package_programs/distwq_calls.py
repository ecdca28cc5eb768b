"""distwq: a controller that submits calls to workers."""

import distwq


def square(x):
    return x * x


def main(controller):
    for number in range(10):
        controller.submit_call("square", (number,), module_name="__main__")
    print(sum(controller.get_next_result()[1] for _ in range(10)))


if __name__ == "__main__":
    if distwq.is_controller:
        distwq.run(fun_name="main", verbose=False)
    else:
        distwq.run(verbose=False)
