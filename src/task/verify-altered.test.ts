import { expect, test } from 'vitest'
import { putBackAll } from './verify-altered.ts'

test('a file that git cannot write is an error, because the old tests would not be the ones that run', async () => {
  const tree = { putBack: async () => ['test/add.test.js'] }
  await expect(putBackAll(tree, 'state', ['test/add.test.js', 'b'])).rejects.toMatchObject({
    why: {
      kind: 'infra',
      fault: { message: 'test/add.test.js could not be written in the tree of the task' },
    },
  })
})
