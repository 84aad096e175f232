import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findingTexts } from './finding-log.ts'

test('every finding of the lab is in the documentation, with its severity', () => {
  const rows = readFileSync(join(import.meta.dirname, '../../../docs/plugin-hooks.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `HOOK_'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, code, severity, meaning]) => [code?.replaceAll('`', ''), severity, meaning])
  expect(rows).toEqual(
    Object.entries(findingTexts).map(([code, { severity, message }]) => [code, severity, `${message}.`]),
  )
})
