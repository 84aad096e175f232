import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStartPipe } from './open-pipe.ts'
import { temporaryDirectory } from './temporary-directory.ts'

test('starting a program that has ended already writes into no file that got its number', () => {
  using scratch = temporaryDirectory('gantry-open-pipe-')
  const pipe = openStartPipe()
  pipe?.close()
  const files = Array.from({ length: 4 }, (_, index) => join(scratch.path, String(index)))
  const opened = files.map((file) => openSync(file, 'w'))
  onTestFinished(() => opened.forEach(closeSync))
  pipe?.start()
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['', '', '', ''])
})
