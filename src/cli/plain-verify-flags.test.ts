import { expect, test } from 'vitest'
import { plainVerifyFlags } from './plain-verify-flags.ts'

test.each([
  ['verify', { sandbox: 'auto' }],
  ['verify --json', { sandbox: 'auto', json: true }],
  ['verify -v --sandbox bubblewrap', { sandbox: 'bubblewrap', verbose: true }],
  [
    'verify --verbose --root dir --config a.yaml',
    { sandbox: 'auto', verbose: true, root: 'dir', config: 'a.yaml' },
  ],
])('%s needs no explanation', (line, flags) => {
  expect(plainVerifyFlags(line.split(' '))).toEqual(flags)
})

test.each([
  '',
  'test',
  '--version',
  'verify --help',
  'verify --sandbox podman',
  'verify --sandbox',
  'verify --root',
  'verify --root --json',
  'verify --sandbox=host',
  'verify -vx',
  'verify extra',
  'verify --unknown value',
  'guard verify',
])("%j is the whole program's to understand", (line) => {
  expect(plainVerifyFlags(line.split(' '))).toBeNull()
})
