import type { Facts } from '../contract.ts'

/** Nothing was looked up. */
export const noFacts: Facts = { tree: null, project: null, edited: [], verify: [], seal: null, tests: null }

/** Only what was looked up, for the ledger. The inventory of tests can be long, and a note keeps it when it matters. */
export function toldFacts({ tests: _, ...facts }: Facts): Partial<Facts> {
  const told = Object.entries(facts).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  )
  return Object.fromEntries(told)
}
