import { readFileSync, writeFileSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import type { NoteEntry } from '../contract.ts'
import { openLedger } from './open-ledger.ts'

function note(id: string): NoteEntry {
  return { kind: 'note', id, at: '2026-01-01T00:00:00.000Z', note: { kind: 'warned', about: `ü ${id}` } }
}

test('wherever a ledger is cut off, complete entries before and new entries after the cut count', async () => {
  await using fixture = await createFixture()
  const request = { guardHome: fixture.path, root: '/home/dev/app', session: 's1', edition: 'test' }
  const writer = openLedger(request)
  for (const id of ['e1', 'e2', 'e3']) writer.append(note(id))
  const whole = readFileSync(writer.place.session)
  for (let length = 0; length <= whole.length; length += 1) {
    const left = whole.subarray(0, length)
    writeFileSync(writer.place.session, left)
    openLedger(request).append(note('after'))
    const reader = openLedger(request)
    expect(reader.advance('after'), `cut at ${length}`).toBe(true)
    const expected = [...wholeLines(left), 'ü after']
    expect(reader.history.session.warned, `cut at ${length}`).toEqual(expected)
    expect(reader.health.tampered, `cut at ${length}`).toBe(0)
  }
})

/** The content of complete lines, including a last one without its line break. */
function wholeLines(bytes: Buffer): string[] {
  const lines = bytes.toString('utf8').split('\n')
  return lines.filter((line) => /"mac":"[\w-]{22}"\}$/.test(line)).map((line) => JSON.parse(line).note.about)
}
