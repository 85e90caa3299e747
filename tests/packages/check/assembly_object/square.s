    .text
    .globl square
    .type square, @function
square:
    mulsd %xmm0, %xmm0
    ret
    .size square, .-square
    .section .note.GNU-stack,"",@progbits
