import { expect, test } from 'vitest'
import { imageReference } from './pull-image.ts'

test.each([
  ['node', 'node', 'latest'],
  ['node:24', 'node', '24'],
  ['localhost:5000/team/node', 'localhost:5000/team/node', 'latest'],
  ['localhost:5000/team/node:24', 'localhost:5000/team/node', '24'],
  ['node@sha256:abc', 'node', 'sha256:abc'],
  ['node:24@sha256:abc', 'node:24', 'sha256:abc'],
])('%s is pulled as %s with the tag %s', (image, fromImage, tag) => {
  expect(imageReference(image)).toEqual({ fromImage, tag })
})
