import { expect, test } from 'vitest'
import { claudeCodeCodec } from '../../agents/claude-code/hooks.ts'
import type { Capability } from '../../agents/hook-codec.ts'
import { GantryError } from '../../core/error.ts'
import type { ProofGate, ProofStage, Sighting } from './contract.ts'
import { proveAgent } from './prove-agent.ts'

const stageOf = (version: string | null, failClosed?: Capability): ProofStage => ({
  agent: 'claude-code',
  version,
  capabilities: { ...claudeCodeCodec.capabilities, ...(failClosed !== undefined && { failClosed }) },
  traits: { config: {}, compaction: null },
  program: { node: '/node', hookBin: '/hook-bin.js' },
  nowhere: '/nowhere',
  project: () => Promise.reject(new Error('no gate of these tests needs one')),
})

const gateOf = (name: string, play: () => Promise<Sighting>): ProofGate => ({
  name,
  expected: 'that',
  capability: 'failClosed',
  play,
})

const fired = async (): Promise<Sighting> => ({ fired: true, seen: 'this' })
const silent = async (): Promise<Sighting> => ({ fired: false, seen: 'nothing of it' })

test.each([
  ['a gate that fires', '2.1.325', undefined, fired, 'fires', null],
  [
    'a gate that does not fire, in an agent that can',
    '2.1.325',
    { kind: 'yes' },
    silent,
    'does not fire',
    null,
  ],
  ['a silent gate in a version that should have it', '2.1.295', undefined, silent, 'does not fire', null],
  [
    'a silent gate in a version before it',
    '2.1.294',
    undefined,
    silent,
    'cannot be enforced',
    /^Before 2\.1\.295/,
  ],
  [
    'a silent gate in an agent that cannot',
    '9.0.0',
    { kind: 'no', why: 'It cannot.' },
    silent,
    'cannot be enforced',
    /^It cannot\.$/,
  ],
  ['a gate that fires in an agent that supposedly cannot', '2.1.197', undefined, fired, 'fires', null],
] as const)('%s', async (_, version, capability, play, verdict, why) => {
  const [row] = await proveAgent(stageOf(version, capability), { gates: [gateOf('one', play)] })
  expect(row).toMatchObject({ gate: 'one', verdict })
  if (why === null) expect(row?.why).toBeNull()
  else expect(row?.why).toMatch(why)
})

test('an agent that fails early has shown nothing', async () => {
  const broken = gateOf('one', () => Promise.reject(new GantryError('SPAWN_FAILED', 'it crashed')))
  const [row] = await proveAgent(stageOf('2.1.325'), { gates: [broken] })
  expect(row).toMatchObject({ verdict: 'not shown', why: 'it crashed' })
})

test('an interruption or a bug ends the proof', async () => {
  for (const error of [new GantryError('INTERRUPTED', 'stop'), new TypeError('a bug')]) {
    const broken = gateOf('one', () => Promise.reject(error))
    await expect(proveAgent(stageOf('2.1.325'), { gates: [broken] })).rejects.toBe(error)
  }
})

test('rows are in the order of the gates, whichever ends first', async () => {
  const { promise, resolve } = Promise.withResolvers<Sighting>()
  const gates = [
    gateOf('slow', () => promise),
    gateOf('quick', fired),
    gateOf('last', async () => {
      resolve({ fired: true, seen: 'at last' })
      return fired()
    }),
  ]
  const rows = await proveAgent(stageOf('2.1.325'), { gates })
  expect(rows.map(({ gate }) => gate)).toEqual(['slow', 'quick', 'last'])
})
