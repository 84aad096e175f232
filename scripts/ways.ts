/** A function on the way, as `file#function`. */
export type Step = `${string}#${string}`

/**
 * What a newcomer opens, in this order, to follow one flow from end to end. Each function is used by an earlier file of its way;
 * `scripts/house.ts` checks that and counts the files.
 */
export const ways: Readonly<Record<string, readonly Step[]>> = {}
