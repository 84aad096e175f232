/**
 * How long one call of git may take on the way of a hook. Half of what the shortest hook that asks git has: what is done without
 * git's answer must fit in the other half.
 */
export const gitTimeoutMs = 4_000
