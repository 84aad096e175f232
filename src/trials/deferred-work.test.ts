import { expect, test } from 'vitest'
import { createDeferredWork } from './deferred-work.ts'

test('work is done later, in order, and done() waits for all of it', async () => {
  const later = createDeferredWork()
  const seen: number[] = []
  for (const number of [1, 2, 3]) later.add(() => seen.push(number))
  expect(seen).toEqual([])
  await later.done()
  expect(seen).toEqual([1, 2, 3])
})

test('a failure stops the next one who adds something, and is thrown by done(); the rest is still done', async () => {
  const later = createDeferredWork()
  const seen: string[] = []
  later.add(() => {
    throw new Error('the disk is full')
  })
  later.add(() => seen.push('after'))
  await expect(later.done()).rejects.toThrow('the disk is full')
  expect(seen).toEqual(['after'])
  expect(() => later.add(() => {})).toThrow('the disk is full')
})
