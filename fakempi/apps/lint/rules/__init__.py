"""The rules, one per file: code, title, explanation with a wrong and a right program, and a function `check`.

catalogue        all rules by code
paths            sequences of collective calls on a path, and their differences
rank_branch      FM101: collective calls that only a part of the ranks reaches
early_exit       FM102: a path that ends before collective calls of other ranks
rank_loop        FM103: a loop with collective calls whose number of passes differs between ranks
exception_path   FM104: an exception of one rank skips a collective call
rank_root        FM105: a root that differs between ranks
send_cycle       FM201: blocking sends in a cycle
receive_cycle    FM202: blocking receives in a cycle
mixed_interface  FM203: recv matched by Send
lost_request     FM301: requests that are never completed
buffer_use       FM302: buffers that are used before the request is complete
no_buffer        FM303: upper-case calls with objects that are no buffers
scopes           statements and names of functions
"""
