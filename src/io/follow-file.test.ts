import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { followFile } from './follow-file.ts'

test('appended text arrives while the file grows, and the rest at the end', async () => {
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

test('an error of the callback is reported at once and thrown at the end, and the callback is not called again', async () => {
  await using fixture = await createFixture({ log: 'one' })
  const problems: unknown[] = []
  let calls = 0
  const followed = followFile(
    fixture.getPath('log'),
    () => {
      calls += 1
      throw new Error('the disk is full')
    },
    (cause) => problems.push(cause),
  )
  while (problems.length === 0) await sleep(5)
  appendFileSync(fixture.getPath('log'), 'two')
  expect(() => followed.finish()).toThrow('the disk is full')
  expect([calls, problems.length]).toEqual([1, 1])
})
