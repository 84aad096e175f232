import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readAgentFile } from './agent-file.ts'

let repository = ''
beforeEach(() => {
  repository = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-agent-file-')))
})
afterEach(() => rmSync(repository, { recursive: true }))

const read = (text: string) => {
  writeFileSync(join(repository, 'agent.yaml'), text)
  return readAgentFile(repository).file
}

const problem = (text: string): string => {
  try {
    read(text)
  } catch (error) {
    return error instanceof Error ? error.message.replaceAll(`${repository}/`, '') : String(error)
  }
  return 'no problem'
}

const whole = (
  more: { readonly verification?: string; readonly top?: string; readonly step?: string } = {},
) =>
  `verification:
  container_image: node:24
  steps:
    - name: test
      command: npm test
${more.step ?? ''}${more.verification ?? ''}${more.top ?? ''}`

test('the smallest file has the documented defaults', () => {
  expect(read(whole())).toEqual({
    verification: {
      image: 'node:24',
      steps: [{ name: 'test', command: 'npm test', timeoutMs: 300_000 }],
      workspace: 'readonly',
      network: 'none',
      limits: { memoryBytes: 8 * 1024 ** 3, cpus: 4, pids: 1024, diskBytes: 2 * 1024 ** 3 },
      env: {},
      caches: [],
    },
    timeouts: { verificationStepMs: 300_000, scoutQueryMs: 60_000 },
    package: null,
  })
})

test('every key is read', () => {
  mkdirSync(join(repository, 'packages/api'), { recursive: true })
  const file = read(
    whole({
      step: '      timeout: 1500\n    - { name: "a/b 🚀", command: "true" }\n',
      verification: `  workspace: overlay
  network: allow
  limits: { memory: 256m, cpus: 0.5, pids: 64, disk: 500m }
  setup: [{ name: install, command: npm ci }, { name: build, command: make, network: none }]
  env: { PORT: 3000, DEBUG: false, NAME: x }
  caches: [{ name: npm, path: /tmp/npm }]
`,
      top: 'timeouts: { verification_step: 1000, scout_query: 2000 }\nmonorepo: { package: ./packages/api/ }\n',
    }),
  )
  expect(file).toEqual({
    verification: {
      image: 'node:24',
      steps: [
        { name: 'test', command: 'npm test', timeoutMs: 1500 },
        { name: 'a/b 🚀', command: 'true', timeoutMs: 1000 },
      ],
      workspace: 'overlay',
      network: 'allow',
      setup: [
        { name: 'install', command: 'npm ci', timeoutMs: 1000, network: 'allow' },
        { name: 'build', command: 'make', timeoutMs: 1000, network: 'none' },
      ],
      limits: { memoryBytes: 256 * 1024 ** 2, cpus: 0.5, pids: 64, diskBytes: 500 * 1024 ** 2 },
      env: { PORT: '3000', DEBUG: 'false', NAME: 'x' },
      caches: [{ name: 'npm', path: '/tmp/npm' }],
    },
    timeouts: { verificationStepMs: 1000, scoutQueryMs: 2000 },
    package: 'packages/api',
  })
})

test.each([
  ['8g', 8 * 1024 ** 3],
  ['1.5g', 1.5 * 1024 ** 3],
  ['256M', 256 * 1024 ** 2],
  ['512mb', 512 * 1024 ** 2],
  ['2GiB', 2 * 1024 ** 3],
  ['4194304', 4194304],
])('memory of %s is %i bytes', (size, bytes) => {
  expect(
    read(whole({ verification: `  limits: { memory: ${size} }\n` })).verification.limits.memoryBytes,
  ).toBe(bytes)
})

describe('a mistake is reported with its position', () => {
  test.each([
    ['no verification section', 'timeouts: {}\n', "agent.yaml:1:1: missing key 'verification'"],
    ['an empty file', '', "missing key 'verification'"],
    [
      'no image',
      'verification:\n  steps: [{ name: a, command: b }]\n',
      "missing key 'container_image' in verification",
    ],
    ['no steps', 'verification:\n  container_image: x\n', "missing key 'steps' in verification"],
    [
      'no step in the list',
      'verification:\n  container_image: x\n  steps: []\n',
      'agent.yaml:3:10: verification.steps: must not be empty',
    ],
    [
      'steps that are not a list',
      'verification:\n  container_image: x\n  steps: npm test\n',
      'verification.steps: expected a list',
    ],
    [
      'a step without a command',
      'verification:\n  container_image: x\n  steps:\n    - name: a\n',
      "agent.yaml:4:7: missing key 'command' in verification.steps[0]",
    ],
    [
      'a step without a name',
      'verification:\n  container_image: x\n  steps:\n    - command: a\n',
      "missing key 'name' in verification.steps[0]",
    ],
    [
      'an empty name',
      'verification:\n  container_image: x\n  steps: [{ name: "", command: a }]\n',
      'verification.steps[0].name: must be a non-empty string',
    ],
    [
      'a blank command',
      'verification:\n  container_image: x\n  steps: [{ name: a, command: "  " }]\n',
      'verification.steps[0].command: must be a non-empty string',
    ],
    [
      'an empty image',
      'verification:\n  container_image: ""\n  steps: [{ name: a, command: a }]\n',
      'verification.container_image: must be a non-empty string',
    ],
    ['an empty package', whole({ top: 'monorepo: { package: "" }\n' }), 'must be a non-empty string'],
    [
      'no time at all',
      whole({ top: 'timeouts: { verification_step: 0 }\n' }),
      'timeouts.verification_step: must be more than 0',
    ],
    [
      'part of a millisecond',
      whole({ top: 'timeouts: { scout_query: 1.5 }\n' }),
      'timeouts.scout_query: expected a whole number',
    ],
    [
      'a time in words',
      whole({ step: '      timeout: 5s\n' }),
      'verification.steps[0].timeout: expected a number',
    ],
    ['bad YAML', 'verification: [\n', 'agent.yaml:1:15: this [ is never closed'],
    ['a list', '- a\n', 'agent.yaml:1:1: expected a mapping'],
    ['a key of the old readme', 'verification:\n  image: x\n  steps: []\n', "unknown key 'image'"],
    [
      'a misspelt key',
      whole({ verification: '  netwrok: allow\n' }),
      "agent.yaml:6:3: unknown key 'netwrok', did you mean 'network'?",
    ],
    ['the same key twice', whole({ verification: '  container_image: y\n' }), 'agent.yaml:6:3'],
    [
      'an unknown workspace',
      whole({ verification: '  workspace: rw\n' }),
      "expected one of 'readonly', 'overlay'",
    ],
    [
      'a size in words',
      whole({ verification: '  limits: { memory: lots }\n' }),
      'is not a size such as 256m',
    ],
    ['too little memory', whole({ verification: '  limits: { memory: 1k }\n' }), 'must be at least 1m'],
    ['no processor', whole({ verification: '  limits: { cpus: 0 }\n' }), 'limits.cpus: must be more than 0'],
    ['part of a process', whole({ verification: '  limits: { pids: 1.5 }\n' }), 'limits.pids'],
    ['a reserved variable', whole({ verification: '  env: { TMPDIR: /x }\n' }), 'is set by the Verifier'],
    [
      'an invalid variable name',
      whole({ verification: '  env: { "A B": x }\n' }),
      'is not a valid variable name',
    ],
    [
      'a cache in the workspace',
      whole({ verification: '  caches: [{ name: a, path: /workspace/x }]\n' }),
      'caches[0].path: is reserved',
    ],
    [
      'a cache that climbs out',
      whole({ verification: '  caches: [{ name: a, path: /x/../artifacts }]\n' }),
      'caches[0].path: is reserved',
    ],
    [
      'two caches with the same name',
      whole({ verification: '  caches: [{ name: a, path: /x }, { name: a, path: /y }]\n' }),
      'caches[1].name: is used by another cache',
    ],
    [
      'a cache whose name is a path',
      whole({ verification: '  caches: [{ name: ../a, path: /x }]\n' }),
      'caches[0].name: must be 1 to 64',
    ],
    [
      'a package that does not exist',
      whole({ top: 'monorepo: { package: nowhere }\n' }),
      'there is no directory nowhere',
    ],
    ['a package outside', whole({ top: 'monorepo: { package: ../x }\n' }), 'is not inside the repository'],
    ['an absolute package', whole({ top: 'monorepo: { package: /etc }\n' }), 'is not inside the repository'],
  ])('%s', (_, text, expected) => {
    expect(problem(text)).toContain(expected)
  })

  test('a package behind a symlink that leaves the repository', () => {
    symlinkSync('/etc', join(repository, 'link'))
    expect(problem(whole({ top: 'monorepo: { package: link }\n' }))).toContain('is not inside the repository')
  })

  test('all mistakes of a file are reported at once', () => {
    expect(problem('verification:\n  container_image: ""\n  steps: []\n')).toContain('2 problems')
  })

  test('a missing file is reported with an example', () => {
    expect(() => readAgentFile(repository)).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND', hint: expect.stringContaining('container_image:') }),
    )
  })
})
