"""Ray through the REST API of its dashboard, without the package `ray`: time limits, errors, and the objects read.

The API is the same for every client, while `ray` itself connects only between equal versions of Ray and of Python, and brings 380 MB.
"""
