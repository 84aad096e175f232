import { readdirSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { createTextReader } from './output-reader.ts'
import { playProcess } from './play-process.ts'

test.each(['stdout', 'stderr'])(
  'a listener that throws at %s leaves no file watcher behind',
  async (stream) => {
    await using fixture = await createFixture({})
    const env = { PATH: process.env.PATH ?? '', TMPDIR: fixture.path }
    const playing = playProcess(
      {
        name: 'agent',
        argv: ['sh', '-c', stream === 'stdout' ? 'echo out; sleep 30' : 'echo err >&2; sleep 30'],
        env,
        createReader: () => createTextReader(() => {}),
        throughFile: true,
      },
      {
        prompt: '',
        workspace: fixture.path,
        model: 'default',
        env,
        timeoutMs: 600_000,
        signal: new AbortController().signal,
        emit: () => {},
        transcript: () => {
          throw new Error('the disk is full')
        },
      },
    )
    await expect(playing).rejects.toThrow('the disk is full')
    expect(readdirSync(fixture.path)).toEqual([])
  },
)
