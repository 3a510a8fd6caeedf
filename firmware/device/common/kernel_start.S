/* First code of every kernel: clears .bss and runs kernel_main on the caller's stack. An
   ordinary function. Its addresses are absolute: tt-metal's Ethernet firmware runs a copy of the
   text in instruction RAM, and the data stay in L1. */
    .cfi_sections .debug_frame

    .section .text.start, "ax", @progbits
    .globl kernel_start
    .type kernel_start, @function
kernel_start:
    .cfi_startproc
    addi sp, sp, -16
    .cfi_def_cfa_offset 16
    sw ra, 12(sp)
    .cfi_offset ra, -4
    lui t0, %hi(__bss_start)
    addi t0, t0, %lo(__bss_start)
    lui t1, %hi(__bss_end)
    addi t1, t1, %lo(__bss_end)
    bgeu t0, t1, 2f
1:  sw zero, 0(t0)
    addi t0, t0, 4
    bltu t0, t1, 1b
2:  call kernel_main
    lw ra, 12(sp)
    addi sp, sp, 16
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size kernel_start, . - kernel_start
