import { expect, test } from 'vitest'
import { parseLabels } from './label-trials.ts'

test('labels of a table are read in capitals too', () => {
  expect(parseLabels('run,trial,label\nlatest,0001,PASS\nlatest,0002, Fail\n', 'a.csv')).toEqual([
    { run: 'latest', trial: '0001', label: 'pass' },
    { run: 'latest', trial: '0002', label: 'fail' },
  ])
})
