import { expect, test } from 'vitest'
import { corpusLines } from '../../../test/support/corpus-lines.ts'
import { defaultSettings } from '../settings/settings.ts'
import {
  canInfluence,
  documentationMatcher,
  onlyCommentsChanged,
  type ProjectPackage,
  packagesChecked,
} from './change-influence.ts'

interface ChangeCase {
  readonly path: string
  readonly before?: string
  readonly after?: string
  readonly comments?: boolean
  readonly documentation?: boolean
}

const cases = corpusLines<ChangeCase>('change-kinds')

test.each(cases.filter(({ comments }) => comments !== undefined))(
  'only comments changed in $path from $before to $after: $comments',
  ({ path, before = '', after = '', comments }) => {
    expect(onlyCommentsChanged(path, before, after)).toBe(comments)
  },
)

test.each(cases.filter(({ documentation }) => documentation !== undefined))(
  '$path is documentation: $documentation',
  ({ path, documentation }) => {
    expect(documentationMatcher(defaultSettings.checklist.documentation)(path)).toBe(documentation)
  },
)

test('without patterns nothing is documentation', () => {
  expect(documentationMatcher([])('README.md')).toBe(false)
})

const web: ProjectPackage = {
  directory: 'packages/web',
  name: '@shop/web',
  manifest: '{"dependencies":{"@shop/ui":"*"}}',
}
const ui: ProjectPackage = { directory: 'packages/ui', name: '@shop/ui', manifest: '{"name":"@shop/ui"}' }
const api: ProjectPackage = { directory: 'services/api', name: 'api', manifest: '[project]\nname = "api"' }
const packages = [web, ui, api]

test.each([
  ['npm test', null],
  ['npm test -w packages/web', [web]],
  ['npm test --workspace=@shop/web', [web]],
  ['pnpm --filter @shop/ui test', [ui]],
  ['yarn workspace @shop/ui test', [ui]],
  ['npm --prefix packages/web test', [web]],
  ['cd packages/web && npm test', [web]],
  ['cd packages/web && npm run lint && npm test', [web]],
  ['make -C services/api test', [api]],
  ['pytest services/api/tests', [api]],
  ['cargo test -p api', [api]],
  ['npm test && pytest services/api', null],
  ['pytest tests/', null],
  ['cd .. && npm test', null],
])('%s checks %j', (command, checked) => {
  expect(packagesChecked(command, packages)).toEqual(checked)
})

test.each([
  ['packages/web/src/a.ts', web, true],
  ['packages/ui/src/a.ts', web, true],
  ['packages/web/src/a.ts', ui, false],
  ['services/api/a.py', web, false],
  ['packages/web/src/a.ts', api, false],
  ['tsconfig.json', web, true],
  ['packages/shared.ts', web, true],
])('a change of %s reaches the package: %#', (path, checked, expected) => {
  expect(canInfluence(path, checked, packages)).toBe(expected)
})

test('a packed file with thousands of texts in backticks counts as code', () => {
  const packed = '`a`;'.repeat(10_000)
  expect(onlyCommentsChanged('a.js', `${packed}\n// a\n`, `${packed}\n// b\n`)).toBe(false)
})
