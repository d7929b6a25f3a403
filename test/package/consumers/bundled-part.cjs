exports.required = require('leapguard')
