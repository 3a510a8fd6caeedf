/* First code of a Tensix core after reset, when registers are undefined: sets the stack at the
   top of local RAM (STACK_TOP comes from the manifest), clears .bss and never returns. BRISC
   also has the jump at its reset vector. */
    .cfi_sections .debug_frame

#if PROCESSOR_INDEX == 0
    .section .vector, "ax", @progbits
    .type reset_vector, @function
reset_vector:
    .cfi_startproc
    .cfi_undefined ra
    j firmware_start
    .cfi_endproc
    .size reset_vector, . - reset_vector
#endif
    .section .text.start, "ax", @progbits
    .globl firmware_start
    .type firmware_start, @function
firmware_start:
    .cfi_startproc
    .cfi_undefined ra
    li sp, STACK_TOP
    la t0, __bss_start
    la t1, __bss_end
    bgeu t0, t1, 2f
1:  sw zero, 0(t0)
    addi t0, t0, 4
    bltu t0, t1, 1b
2:  call firmware_main
3:  j 3b
    .cfi_endproc
    .size firmware_start, . - firmware_start
