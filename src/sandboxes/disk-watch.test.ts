import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { test } from 'vitest'
import { watchDisk } from './disk-watch.ts'

test('what a step writes is counted also when another process frees as much space meanwhile', async () => {
  await using fixture = await createFixture({})
  const [own, other] = [join(fixture.path, 'own'), join(fixture.path, 'other')]
  mkdirSync(own)
  const content = Buffer.alloc(4_000_000, 'x')
  writeFileSync(other, content)
  const { promise, resolve } = Promise.withResolvers<void>()
  using _ = watchDisk([own], 1_000_000, resolve)
  writeFileSync(join(own, 'big'), content)
  rmSync(other)
  await promise
})
