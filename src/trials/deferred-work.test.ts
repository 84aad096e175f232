import { expect, test } from 'vitest'
import { createDeferredWork } from './deferred-work.ts'

test('work is done later, in order, and the promise waits for it', async () => {
  const later = createDeferredWork()
  const seen: number[] = []
  const added = [1, 2, 3].map((number) => later.add(() => void seen.push(number)))
  expect(seen).toEqual([])
  await added[1]
  expect(seen.slice(0, 2)).toEqual([1, 2])
  await added[2]
  expect(seen).toEqual([1, 2, 3])
})

test('a failure is thrown where the work was added, and the rest is still done', async () => {
  const later = createDeferredWork()
  const seen: string[] = []
  const failing = later.add(() => {
    throw new Error('the disk is full')
  })
  const after = later.add(() => void seen.push('after'))
  await expect(failing).rejects.toThrow('the disk is full')
  await after
  expect(seen).toEqual(['after'])
})
