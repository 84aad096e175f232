import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { followFile } from './follow-file.ts'

test('what is appended arrives while the file grows, and the rest at the end', async () => {
  await using fixture = await createFixture({ log: 'one ' })
  const path = fixture.getPath('log')
  let heard = ''
  const followed = followFile(
    path,
    (chunk) => {
      heard += Buffer.from(chunk).toString()
    },
    () => {},
  )
  appendFileSync(path, 'two ')
  while (heard !== 'one two ') await sleep(5)
  appendFileSync(path, 'x'.repeat(1_000_000))
  followed.finish()
  expect(heard.length).toBe(1_000_008)
})

test('a callback that throws is told at once and again at the end, and is not called any more', async () => {
  await using fixture = await createFixture({ log: 'one' })
  const told: unknown[] = []
  let calls = 0
  const followed = followFile(
    fixture.getPath('log'),
    () => {
      calls += 1
      throw new Error('the disk is full')
    },
    (cause) => told.push(cause),
  )
  while (told.length === 0) await sleep(5)
  appendFileSync(fixture.getPath('log'), 'two')
  expect(() => followed.finish()).toThrow('the disk is full')
  expect([calls, told.length]).toEqual([1, 1])
})
