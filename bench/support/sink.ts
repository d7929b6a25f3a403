// Where do results go, so that no loop can be optimised away? The parent process reads the sum.
export const sink = { sum: 0 }
