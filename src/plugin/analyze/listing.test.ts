import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../../test/support/any-character.ts'
import { type ListedComponent, listingBudget } from './listing.ts'

type Texts = Readonly<Record<string, readonly [string, number]>>

/** Plugins with descriptions of certain lengths, and how Claude Code 2.1.325 listed them. */
interface Case {
  readonly name: string
  readonly contextTokens: number
  readonly plugins: readonly { readonly name: string; readonly commands: Texts; readonly skills: Texts }[]
  readonly shown: readonly (readonly [string, 'whole' | 'cut' | 'dropped'])[]
}

const cases: readonly Case[] = readFileSync(
  join(import.meta.dirname, '../../../test/corpus/plugin/listing.jsonl'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

describe('what Claude Code shows its model', () => {
  test.each(cases.map((each) => [each.name, each] as const))('%s', (_, { contextTokens, plugins, shown }) => {
    const listed = (['commands', 'skills'] as const).flatMap((part) =>
      plugins.flatMap((plugin) =>
        Object.entries(plugin[part]).map(([name, [char, count]]): ListedComponent => {
          const cliName = `${plugin.name}:${name}`
          return { id: cliName, cliName, text: char.repeat(count), alias: null }
        }),
      ),
    )
    const { entries } = listingBudget(listed, contextTokens)
    expect(entries.map((entry) => [entry.component, entry.shown])).toEqual(shown)
  })
})

test('the listing budget is one percent of the window: 8,000 characters at 200,000 tokens, 30,000 at a million', () => {
  expect(listingBudget([], 200_000).budget_characters).toBe(8_000)
  expect(listingBudget([], 1_000_000).budget_characters).toBe(30_000)
})

test('a description that fills the budget to the last character is shown', () => {
  const [shown, dropped] = [156_850, 156_825].map((tokens) =>
    listingBudget([{ id: 'a', cliName: 'big:a', text: 'x'.repeat(200), alias: null }], tokens),
  )
  expect([shown?.budget_characters, shown?.used_characters, shown?.entries[0]?.shown]).toEqual([
    6_274,
    6_274,
    'whole',
  ])
  expect([dropped?.budget_characters, dropped?.entries[0]?.shown]).toEqual([6_273, 'dropped'])
})

test('the shown descriptions stay within the budget, and the dropped ones would exceed it', () => {
  const component = fc.record({
    id: fc.string(),
    cliName: fc.string({ minLength: 1, maxLength: 20 }),
    text: fc.string({ maxLength: 2_000, unit: anyCharacter }),
    alias: fc.option(fc.string()),
  })
  fc.assert(
    fc.property(
      fc.array(component, { maxLength: 30 }),
      fc.integer({ min: 1_000, max: 400_000 }),
      (all, tokens) => {
        const { entries, used_characters: used, budget_characters: budget } = listingBudget(all, tokens)
        expect(entries.length).toBe(all.length)
        if (entries.some(({ shown }) => shown !== 'dropped')) expect(used).toBeLessThanOrEqual(budget)
        for (const { shown, characters } of entries)
          if (shown === 'dropped') expect(used + characters).toBeGreaterThan(budget)
      },
    ),
  )
})
