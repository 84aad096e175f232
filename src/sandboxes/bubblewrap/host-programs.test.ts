import { chmodSync, symlinkSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { hostPrograms } from './host-programs.ts'

/** The programs of a sandbox never come from below /dev, where temporary files of tests may be. */
const outsideDev = { tempDir: '/var/tmp' }

test('shows toolchains on the PATH, and nothing of a home directory that may contain a secret', async () => {
  await using fixture = await createFixture(
    {
      'home/.nvm/versions/node/v24.0.0/bin/npm': '',
      'home/.cargo/bin/cargo': '',
      'home/.cargo/credentials.toml': 'token',
      'home/.rustup/settings.toml': '',
      'home/.pyenv/shims/python': '',
      'home/.pyenv/libexec/pyenv': '',
      'home/.local/bin/tool': '',
      'home/.local/share/keyrings/login': 'secret',
      'home/bin/own': '',
      'elsewhere/tools/run': '',
      'repository/node_modules/.bin/tsc': '',
    },
    outsideDev,
  )
  const at = (path: string) => fixture.getPath(path)
  const path = [
    at('home/.nvm/versions/node/v24.0.0/bin'),
    at('home/.cargo/bin'),
    at('home/.pyenv/shims'),
    at('home/.local/bin'),
    at('home/bin'),
    at('home'),
    at('elsewhere/tools'),
    at('repository/node_modules/.bin'),
    at('missing'),
    'relative/bin',
    '/usr/bin',
    '/',
    '/root',
  ].join(':')
  const shown = hostPrograms({ env: { PATH: path, HOME: at('home') }, repository: at('repository') })
  const own = shown.trees.filter((tree) => tree.startsWith(fixture.path))
  expect(own).toEqual(
    [
      at('elsewhere/tools'),
      at('home/.cargo/bin'),
      at('home/.local/bin'),
      at('home/.nvm/versions/node/v24.0.0'),
      at('home/.pyenv'),
      at('home/.rustup'),
      at('home/bin'),
    ].toSorted(),
  )
  expect(shown.env).toEqual({ PYENV_ROOT: at('home/.pyenv'), RUSTUP_HOME: at('home/.rustup') })
  expect(shown.path.split(':')).not.toContain(at('home'))
  expect(shown.path.split(':')).not.toContain(at('repository/node_modules/.bin'))
  expect(shown.path.split(':')).toContain('/usr/bin')
  for (const tree of ['/', '/root', '/home', '/var', '/run', '/etc', '/etc/shadow', '/tmp'])
    expect(shown.trees).not.toContain(tree)
})

test('a node outside the system directories is found at its real path, also behind a package symlink', async () => {
  await using fixture = await createFixture(
    {
      'packages/node-linux/bin/node': '#!/bin/sh\n',
      'packages/.bin/x': '',
    },
    outsideDev,
  )
  const prefix = fixture.getPath('packages/node-linux')
  chmodSync(`${prefix}/bin/node`, 0o755)
  symlinkSync('../node-linux/bin/node', fixture.getPath('packages/.bin/node'))
  const entry = fixture.getPath('packages/.bin')
  const shown = hostPrograms({
    env: { PATH: `${entry}:/usr/bin`, HOME: fixture.getPath('home') },
    repository: '/nowhere',
  })
  expect(shown.trees).toContain(prefix)
  expect(shown.path.split(':').slice(2, 5)).toEqual([`${prefix}/bin`, entry, '/usr/bin'])
})
