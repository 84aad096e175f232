import { realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { GantryError } from '../../core/error.ts'
import { readMarketplace } from './read-marketplace.ts'

const market = (fields: object) => JSON.stringify({ name: 'tools', owner: { name: 'A' }, ...fields })

test('plugins of a directory or a file, with their path or the reason there is none', async () => {
  await using fixture = await createFixture({
    'm/.claude-plugin/marketplace.json': market({
      plugins: [
        { name: 'one', source: './plugins/one', description: 'First.' },
        { name: 'inner', source: './inside' },
        { name: 'gone', source: './plugins/gone' },
        { name: 'above', source: './../outside' },
        { name: 'absolute', source: '/etc' },
        { name: 'linked', source: './escape' },
        { name: 'hub', source: { source: 'github', repo: 'a/b' } },
        { name: 'package', source: { source: 'npm', package: '@a/b' } },
        { name: 'web', source: 'https://example.com/x.git' },
        { name: 'none' },
        { source: './plugins/one' },
        'nonsense',
      ],
    }),
    'm/plugins/one/x': '',
    'outside/x': '',
  })
  const top = realpathSync(fixture.path).replace(/\/$/, '')
  symlinkSync('plugins/one', join(top, 'm/inside'))
  symlinkSync('../outside', join(top, 'm/escape'))
  for (const path of ['m', 'm/.claude-plugin', 'm/.claude-plugin/marketplace.json']) {
    const { name, owner, root, plugins } = await readMarketplace(join(top, path))
    expect([name, owner, root]).toEqual(['tools', 'A', join(top, 'm')])
    expect(plugins.map((plugin) => [plugin.name, plugin.path ?? plugin.problem])).toEqual([
      ['one', join(top, 'm/plugins/one')],
      ['inner', join(top, 'm/plugins/one')],
      ['gone', 'its source ./plugins/gone is not a directory'],
      ['above', `its source ./../outside is not followed: it leads out of ${join(top, 'm')}`],
      ['absolute', 'its source /etc is not followed: it is an absolute path'],
      ['linked', `its source ./escape is not followed: it leads out of ${join(top, 'm')}`],
      ['hub', 'it is remote (github a/b) and is not fetched'],
      ['package', 'it is remote (npm @a/b) and is not fetched'],
      ['web', 'it is remote (https://example.com/x.git) and is not fetched'],
      ['none', 'it has no source'],
      ['#11', 'plugin 11 of the marketplace has no name'],
      ['#12', 'plugin 12 of the marketplace has no name'],
    ])
    expect(plugins[0]).toMatchObject({ description: 'First.', source: './plugins/one', problem: null })
  }
})

test('a marketplace may name the directory of its plugins', async () => {
  await using fixture = await createFixture({
    'marketplace.json': market({
      metadata: { pluginRoot: './plugins' },
      plugins: [
        { name: 'one', source: 'one' },
        { name: 'two', source: './two' },
      ],
    }),
    'plugins/one/x': '',
    'two/x': '',
  })
  const { plugins } = await readMarketplace(fixture.getPath('marketplace.json'))
  const top = realpathSync(fixture.path).replace(/\/$/, '')
  expect(plugins.map(({ path }) => path)).toEqual([join(top, 'plugins/one'), join(top, 'two')])
})

test.each([
  ['nothing is there', {}, 'NOT_FOUND', /does not exist/],
  [
    'it is not JSON',
    { '.claude-plugin/marketplace.json': '{"name":\n x}' },
    'INVALID_FILE',
    /:2:2: a value is expected/,
  ],
  ['it is no object', { '.claude-plugin/marketplace.json': '[]' }, 'INVALID_FILE', /has no name/],
  ['it has no name', { '.claude-plugin/marketplace.json': '{"plugins":[]}' }, 'INVALID_FILE', /has no name/],
  [
    'it has no plugins',
    { '.claude-plugin/marketplace.json': '{"name":"a"}' },
    'INVALID_FILE',
    /has no plugins/,
  ],
  ['the file is a directory', { '.claude-plugin/marketplace.json/x': '' }, 'INVALID_FILE', /cannot be read/],
])('a marketplace is refused when %s', async (_, files, code, message) => {
  await using fixture = await createFixture({ x: '', ...files })
  const failed = await readMarketplace(fixture.path).catch((cause: unknown) => cause)
  expect(failed).toBeInstanceOf(GantryError)
  expect(failed).toMatchObject({ code, message: expect.stringMatching(message), hint: expect.any(String) })
})

test('the file of a marketplace is not read through a link that leads out', async () => {
  await using fixture = await createFixture({
    'real.json': market({ plugins: [] }),
    'm/.claude-plugin/x': '',
  })
  symlinkSync('../../real.json', fixture.getPath('m/.claude-plugin/marketplace.json'))
  await expect(readMarketplace(fixture.getPath('m'))).rejects.toThrow(/leads to|leads out/)
})
