import { expect, test } from 'vitest'
import { madeUpWorld } from '../../test/support/made-up-world.ts'
import { callOf, readProtectionCorpus, sceneOf } from '../guard-engine/protection-corpus.conformance.ts'
import { guardedPaths, realGuardedPaths } from '../guard-engine/seal/guarded-paths.ts'
import { defaultSettings } from '../guard-engine/settings/settings.ts'
import { confineWrites } from './confine-writes.ts'
import { protectFiles } from './protect-files.ts'
import { protectItself } from './protect-itself.ts'
import { refuseUnseenInput } from './refuse-unseen-input.ts'

/** Ordinary work in a guarded project: code, documentation, package managers, git, here-documents, Makefiles. */
const corpus = readProtectionCorpus('harmless-work')

const home = '/home/dev'
const root = `${home}/app`
const guardHome = `${home}/.local/state/gantry/guard`
const files = {
  [`${root}/.git/HEAD`]: 'ref: refs/heads/main\n',
  [`${root}/.git/index`]: 'DIRC\0.env.example\0.gitignore\0README.md\0package.json\0src/index.ts\0',
  [`${root}/.git/info/exclude`]: '/.claude/settings.local.json\n',
  [`${root}/.claude/settings.local.json`]: '{"hooks":{}}',
  [`${root}/.harness/.gitignore`]: '*\n',
  [`${root}/.harness/state.json`]: '{}',
  [`${root}/.gitignore`]: 'node_modules\ndist\n.env\n*.key\n*.pem\nconfig/credentials.json\n',
  [`${root}/.env`]: 'A=1\n',
  [`${root}/.env.example`]: 'A=\n',
  [`${root}/README.md`]: 'read me\n',
  [`${root}/package.json`]: '{}\n',
  [`${root}/certs/ca.pem`]: 'pem\n',
  [`${root}/server.key`]: 'key\n',
  [`${root}/config/credentials.json`]: '{}\n',
  [`${root}/scripts/build.sh`]: '#!/bin/sh\nmkdir -p dist\n',
  [`${root}/src/index.ts`]: '1\n',
  [`${root}/src/credentials.ts`]: '1\n',
  [`${root}/docs/guide.md`]: 'guide\n',
  [`${home}/.ssh/id_rsa`]: 'key\n',
  [`${guardHome}/key`]: 'secret',
  [`${guardHome}/bin/claude-code-0/gantry-hook.cjs`]: '',
  [`${guardHome}/projects/app-0/project.jsonl`]: '',
  '/tmp/x': '',
}
const place = {
  root,
  home,
  env: {},
  guardHome,
  hookBin: '/opt/gantry/hook-bin.js',
  pluginDir: null,
  agentFiles: [],
}
const world = madeUpWorld(
  { files },
  {
    home,
    env: { HOME: home, PWD: root },
    own: realGuardedPaths(guardedPaths(place), madeUpWorld({ files }, { home, own: [] }).resolve),
  },
)

function refusalOf(each: (typeof corpus)[number]): string | null {
  const scene = sceneOf(callOf(each), world, { at: root, cwd: root })
  const settings = { ...scene.settings, fileProtection: defaultSettings.fileProtection }
  for (const rule of [protectItself, protectFiles, confineWrites, refuseUnseenInput]) {
    const denied = rule.judge({ ...scene, settings })?.deny
    if (denied !== undefined) return `${each.name}: ${rule.name}: ${denied.slice(0, 200)}`
  }
  return null
}

test('the corpus has at least 300 cases with unique names', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(300)
  expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length)
})

test('ordinary work is not refused', () => {
  expect(corpus.map(refusalOf).filter((refusal) => refusal !== null)).toEqual([])
})
