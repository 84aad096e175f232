import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import type { ResolvedAgent } from '../config/resolve-agent.ts'
import type { Case } from './case.ts'
import { readOverlays } from './overlays.ts'

const template = {
  'scripts/g.sh': 'exit 0\n',
  'AGENTS.md': 'Old.\n',
  'tests/a.test.js': '',
  'data.txt': 'x\n',
}

test.each<[string, string, boolean]>([
  ['sh scripts/g.sh', 'scripts/g.sh', true],
  ['. ./scripts/g.sh', 'scripts/g.sh', true],
  ['cd scripts && ./g.sh', 'scripts/g.sh', true],
  ['bash -c "cd scripts; sh g.sh"', 'scripts/g.sh', true],
  ['env X=1 python3 "$GANTRY_FIXTURE_DIR/scripts/g.sh"', 'scripts/g.sh', true],
  ['diff data.txt out.txt', 'data.txt', true],
  ['sh scripts/g.sh', 'AGENTS.md', false],
  ['npm test', 'tests/a.test.js', false],
])('a gate with %j refuses an overlay with %s: %s', async (command, path, isRefused) => {
  await using place = await createFixture({ template, overlay: { [path]: 'new\n' } })
  const agents = new Map([
    ['arm', { arm: { overlay: place.getPath('overlay'), guard: null } } as ResolvedAgent],
  ])
  const cases = [
    {
      name: 'a',
      templateDir: place.getPath('template'),
      scenario: {
        evaluation: { gates: [{ type: 'command_succeeds', command }] },
        scripts: { post: [], evaluators: [] },
      },
    } as unknown as Case,
  ]
  if (isRefused) expect(() => readOverlays(agents, cases)).toThrow(`has ${path}, which grades 'a'`)
  else expect(readOverlays(agents, cases).size).toBe(1)
})
