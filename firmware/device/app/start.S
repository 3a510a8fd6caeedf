/* Entry of the Ethernet application at 0x9040. Base firmware calls it as a function (sp is the
   top of local RAM), so it saves the registers that the C ABI requires and returns with `ret`. */
    .cfi_sections .debug_frame

    .section .text.start, "ax", @progbits
    .globl application_start
    .type application_start, @function
application_start:
    .cfi_startproc
    addi sp, sp, -64
    .cfi_def_cfa_offset 64
    sw ra, 60(sp)
    .cfi_offset ra, -4
    sw s0, 56(sp)
    sw s1, 52(sp)
    sw s2, 48(sp)
    sw s3, 44(sp)
    sw s4, 40(sp)
    sw s5, 36(sp)
    sw s6, 32(sp)
    sw s7, 28(sp)
    sw s8, 24(sp)
    sw s9, 20(sp)
    sw s10, 16(sp)
    sw s11, 12(sp)
    la t0, __bss_start
    la t1, __bss_end
    bgeu t0, t1, 2f
1:  sw zero, 0(t0)
    addi t0, t0, 4
    bltu t0, t1, 1b
2:  call application_main
    lw ra, 60(sp)
    lw s0, 56(sp)
    lw s1, 52(sp)
    lw s2, 48(sp)
    lw s3, 44(sp)
    lw s4, 40(sp)
    lw s5, 36(sp)
    lw s6, 32(sp)
    lw s7, 28(sp)
    lw s8, 24(sp)
    lw s9, 20(sp)
    lw s10, 16(sp)
    lw s11, 12(sp)
    addi sp, sp, 64
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size application_start, . - application_start
