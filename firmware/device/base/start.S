/* Entries of base firmware: reset, the yield for applications, and the call of an application. */
    .cfi_sections .debug_frame

    .section .vector, "ax", @progbits
    .type reset_vector, @function
reset_vector:
    .cfi_startproc
    .cfi_undefined ra
    j firmware_start
    .cfi_endproc
    .size reset_vector, . - reset_vector

    .section .text.start, "ax", @progbits
    .globl firmware_start
    .type firmware_start, @function
firmware_start:
    .cfi_startproc
    .cfi_undefined ra
    li sp, 0xFFB00600       /* base firmware's part of local RAM; the application has the rest */
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

/* The routine behind word 0x9020. Runs on the caller's stack and, unlike an ordinary function,
   changes no register but ra: applications may rely on that (wormhole.md 7.2). */
    .globl yield_entry
    .type yield_entry, @function
yield_entry:
    .cfi_startproc
    addi sp, sp, -64
    .cfi_def_cfa_offset 64
    sw ra, 60(sp)
    .cfi_offset ra, -4
    sw t0, 56(sp)
    .cfi_offset t0, -8
    sw t1, 52(sp)
    .cfi_offset t1, -12
    sw t2, 48(sp)
    .cfi_offset t2, -16
    sw t3, 44(sp)
    .cfi_offset t3, -20
    sw t4, 40(sp)
    .cfi_offset t4, -24
    sw t5, 36(sp)
    .cfi_offset t5, -28
    sw t6, 32(sp)
    .cfi_offset t6, -32
    sw a0, 28(sp)
    .cfi_offset a0, -36
    sw a1, 24(sp)
    .cfi_offset a1, -40
    sw a2, 20(sp)
    .cfi_offset a2, -44
    sw a3, 16(sp)
    .cfi_offset a3, -48
    sw a4, 12(sp)
    .cfi_offset a4, -52
    sw a5, 8(sp)
    .cfi_offset a5, -56
    sw a6, 4(sp)
    .cfi_offset a6, -60
    sw a7, 0(sp)
    .cfi_offset a7, -64
    call serve_application
    lw ra, 60(sp)
    lw t0, 56(sp)
    lw t1, 52(sp)
    lw t2, 48(sp)
    lw t3, 44(sp)
    lw t4, 40(sp)
    lw t5, 36(sp)
    lw t6, 32(sp)
    lw a0, 28(sp)
    lw a1, 24(sp)
    lw a2, 20(sp)
    lw a3, 16(sp)
    lw a4, 12(sp)
    lw a5, 8(sp)
    lw a6, 4(sp)
    lw a7, 0(sp)
    addi sp, sp, 64
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size yield_entry, . - yield_entry

/* void call_application(): 0x9040 as an ordinary call, with sp at the top of local RAM
   (wormhole.md 7.1). */
    .globl call_application
    .type call_application, @function
call_application:
    .cfi_startproc
    addi sp, sp, -16
    .cfi_def_cfa_offset 16
    sw ra, 12(sp)
    .cfi_offset ra, -4
    sw s0, 8(sp)
    .cfi_offset s0, -8
    mv s0, sp
    .cfi_def_cfa s0, 16
    li sp, 0xFFB01000
    li t0, 0x9040
    jalr ra, 0(t0)
    mv sp, s0
    .cfi_def_cfa sp, 16
    lw ra, 12(sp)
    lw s0, 8(sp)
    addi sp, sp, 16
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size call_application, . - call_application
