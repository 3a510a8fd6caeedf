// Stores of constants to constant addresses, in the forms that compilers give them. The comment at
// the end of a line is what is stored there.
    .option norelax
    .text
    .globl start
    .type start, @function
start:
    lui a5, 0x57465
    addi a5, a5, 0x346
    sw a5, 0x4E4(zero)      // 0x57465346 to 0x4e4
    lui a4, 0x3E
    li a5, 0x4B
    sw a5, 0x224(a4)        // 0x4b to 0x3e224
    addi a4, a4, 0x700
    sw a5, -0x4DC(a4)       // 0x4b to 0x3e224
    // A branch over a store to one that has its address from before.
    lui s0, 0x3E
    beqz a0, 2f
    li a5, 0x31
    j 1f
2:  li a5, 0x32
1:  sw a5, 0x224(s0)        // 0x31 to 0x3e224, 0x32 to 0x3e224
    // Calls keep saved registers, and no others.
    lui s1, 0x44465
    addi s1, s1, 0x346
    lui a5, 0x44465
    call other
    sw s1, 0x224(s0)        // 0x44465346 to 0x3e224
    sw a5, 0x224(s0)
    // Words saved on the stack.
    addi sp, sp, -32
    lui a5, 0x57575
    addi a5, a5, -0x3B2
    sw a5, 12(sp)
    addi a3, sp, 8
    lw a2, 4(a3)
    sw a2, 0x224(s0)        // 0x57574c4e to 0x3e224
    sb zero, 13(sp)
    lw a2, 12(sp)
    sw a2, 0x224(s0)
    addi sp, sp, 32
    // A loop changes one register and keeps another.
    li a2, 0x41
    li a3, 0
3:  sw a2, 0x228(s0)        // 0x41 to 0x3e228
    sw a3, 0x224(s0)
    addi a3, a3, 1
    bne a3, a0, 3b
    ret
    .size start, . - start

    .type other, @function
other:
    lw a5, 0(a0)
    ret
    .size other, . - other
    // Only a computed jump leads here.
    lui a5, 0x44445
    addi a5, a5, 0x346
    sw a5, 0x4E4(zero)      // 0x44445346 to 0x4e4
    jr a0
