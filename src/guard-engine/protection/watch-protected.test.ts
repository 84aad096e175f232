import { chmodSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { defaultSettings } from '../settings/settings.ts'
import { watchProtected } from './watch-protected.ts'

test('a changed directory alone does not replace the record, and a new file in it is still noticed', async () => {
  await using project = await createFixture({ 'src/a.ts': '' })
  await using home = await createFixture({})
  const src = join(project.path, 'src')
  let nowMs = Date.now() + 60_000
  const look = (anew: boolean) => {
    nowMs += 60_000
    return watchProtected({
      guardHome: join(home.path, 'guard'),
      root: project.path,
      home: home.path,
      session: 's1',
      settings: defaultSettings,
      nowMs,
      restores: false,
      anew,
      dry: false,
      later: (work) => work(),
    })
  }
  const { path } = look(true)
  const { ino } = statSync(path)

  utimesSync(src, 1, 1)
  expect(look(false).changes).toEqual([])
  expect(statSync(path).ino).toBe(ino)

  writeFileSync(join(src, '.env'), '')
  expect(look(false).changes).toMatchObject([{ path: join(src, '.env'), what: 'new' }])
  expect(statSync(path).ino).not.toBe(ino)
})

test('a directory that was closed after a change of a protected file in it is opened, and the file put back', async () => {
  await using project = await createFixture({ 'config/credentials.json': 'kept' })
  await using home = await createFixture({})
  const [directory, file] = [join(project.path, 'config'), join(project.path, 'config/credentials.json')]
  const look = (anew: boolean) =>
    watchProtected({
      guardHome: join(home.path, 'guard'),
      root: project.path,
      home: home.path,
      session: 's1',
      settings: defaultSettings,
      nowMs: Date.now() + 60_000,
      restores: true,
      anew,
      dry: false,
      later: (work) => work(),
    })
  look(true)
  writeFileSync(file, 'changed')
  chmodSync(directory, 0o000)
  expect(look(false).changes).toMatchObject([{ path: file, restored: true }])
  expect(statSync(directory).mode & 0o777, 'to root no directory is closed').toBe(0o700)
  expect(readFileSync(file, 'utf8')).toBe('kept')
})
